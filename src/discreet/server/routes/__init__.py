"""The paths of /v1, a file for each resource. A handler reads what came, asks the session, and gives back what it said.

Every GET is free and changes nothing; what spends takes a key.
"""
