"""How fast the parts are; each module runs by itself and prints JSON at its end."""
