raise RuntimeError('never imported')
