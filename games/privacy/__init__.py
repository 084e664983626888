"""Budget, mechanisms and the curator: the only code that touches private records or draws noise."""
