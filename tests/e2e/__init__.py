"""The whole product from outside: a real `netautod serve`, a real mongod, SSH servers, and HTTP alone."""
