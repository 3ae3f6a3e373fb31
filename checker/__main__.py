from slotproof.checker.cli import main

main(prog_name="slotproof")
