"""What the runner of the faces asks for."""


def tear_down():
    pass
