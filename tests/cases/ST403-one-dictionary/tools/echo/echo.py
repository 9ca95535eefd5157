def echo(args):
    return args['text']
