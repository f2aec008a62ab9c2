# Aliases of ./oche, for those whose fingers know make.
.PHONY: demo test check bench setup

demo test check setup:
	@./oche $@

bench:
	@./oche bench $(NAME)
