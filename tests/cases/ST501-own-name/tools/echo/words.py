WORDS = 'hello'
