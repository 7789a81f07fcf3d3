/**
 * The commands for people, which `terminal/Root.ts` parses and runs. Listed apart from it, because loading that would delay
 * the start of a server. Pure.
 */
import * as Options from "./Options.ts"

/** Their names. */
export const peopleCommands: ReadonlySet<string> = new Set([
  "chat",
  "cluster",
  "completions",
  "exec",
  "login",
  "logout",
  "sessions",
  "status",
])

/** True for a command line whose command is one of them: its first word that is neither an option nor the value of one. */
export const isForPeople = (words: ReadonlyArray<string>): boolean => {
  for (let i = 0; i < words.length;) {
    const word = words[i] ?? ""
    if (!word.startsWith("-")) return peopleCommands.has(word)
    const written = Options.at(words, i)
    // The version is shown whatever command follows.
    if (written?.option.long === "--version") return false
    i += written?.words ?? 1
  }
  return false
}
