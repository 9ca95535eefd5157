by_lambda = lambda text: text
