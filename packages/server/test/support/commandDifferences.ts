/**
 * Where commands may do less than in the original, in words for users. No recording shows these: the tests named in
 * `packages/docs/security.md` do.
 */
import type { NamedDifference } from "./differences.ts"

export const commandDifferences: ReadonlyArray<NamedDifference> = [
  {
    key: "safe-commands",
    original:
      "Commands that are known only to read run outside the sandbox without a question, also when the model asks for escalation or the machine has no sandbox.",
    colloquy:
      "They run confined to reading; where that is not possible, or when the model asks for escalation, they are asked for or refused like any other command.",
    why: "The list names programs, and a workspace can put a program of that name on the `PATH`.",
  },
  {
    key: "approved-directory",
    original:
      "An approved command runs in the directory to which its path leads when it starts, with the `PATH` of the server.",
    colloquy:
      "It runs in the real directory that the question showed, which the events about it name too, or not at all. Its `PATH` has no entries in directories where confined commands can write.",
    why: "A confined command can make a path lead elsewhere and put a program on the `PATH`: what a person approved would not be what runs.",
  },
  {
    key: "hidden-state",
    original: "A command can read `auth.json`, `config.toml` and the logs of other conversations.",
    colloquy:
      "The directories of Colloquy and of the original are hidden from it; while `auth.json` or `config.toml` has a second name (a hard link) elsewhere, nothing is confined.",
    why: "What a command reads goes to the model.",
  },
  {
    key: "secret-variables",
    original:
      "`[shell_environment_policy]` excludes `*KEY*`, `*SECRET*` and `*TOKEN*` by default (later versions: nothing).",
    colloquy:
      "It excludes what the words of a name or the value show to be a secret: also `DATABASE_URL`, `*_PASSWORD`, `*_PAT`, `*_AUTH`, `AWS_*`, `GITHUB_*`, addresses with a password, tokens and private keys; and keeps `KEYBOARD`, `MONKEY` or `TOKENIZERS_PARALLELISM`. `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_*`, `GIT_CONFIG_VALUE_*` and `GIT_CONFIG_PARAMETERS` are kept or excluded together. `ignore_default_excludes`, `exclude`, `set` and `include_only` mean the same as before.",
    why: "A command's output goes to the model, and secrets have more names than three.",
  },
]
