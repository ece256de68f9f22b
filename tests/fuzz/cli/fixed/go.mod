module m // the root

go 1.21

require (
	example.com/other v1.2.3 // indirect
)
