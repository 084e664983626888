"""``python -m saddlesynth.synthesis.cli``: the command line where scripts are not on the path."""

from __future__ import annotations

from saddlesynth.synthesis.cli import main

if __name__ == "__main__":
    main()
