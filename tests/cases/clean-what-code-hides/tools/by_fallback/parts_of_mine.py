def said(text):
    return text
