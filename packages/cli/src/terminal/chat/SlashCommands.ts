/** The commands that a person types in a chat, after a slash. Pure. */
import { nearest } from "@colloquy/protocol/Nearest"

/** Each with what it does. */
export const slashCommands = {
  help: "show these commands and keys",
  fork: "go on in a copy of this conversation",
  compact: "replace the history by a summary",
  model: "show the model, or set it: /model NAME",
  diff: "show the changes of the last turn that changed files",
  quit: "end the chat",
} as const

/** Their names. */
type SlashName = keyof typeof slashCommands

/** Those that take an argument, which is one word, with the word for it. */
const takesOne: { readonly [name in SlashName]?: string } = { model: "name" }

/** A line that begins with a slash: a command with the rest of the line, or the error in one line. */
export type Slash =
  | { readonly _tag: "Slash"; readonly name: SlashName; readonly argument: string }
  | { readonly _tag: "Refused"; readonly message: string }

const refused = (message: string): Slash => ({ _tag: "Refused", message })

/** The command with its argument, or why it cannot have this one. */
const checked = (name: SlashName, argument: string): Slash => {
  const what = takesOne[name]
  if (what === undefined && argument !== "") return refused(`/${name} takes no argument`)
  return /\s/u.test(argument)
    ? refused(`/${name} takes one ${what}`)
    : { _tag: "Slash", name, argument }
}

const names = Object.keys(slashCommands) as ReadonlyArray<SlashName>

/** The command of the line; undefined for a message. A path such as `/etc/hosts is …` is a message, and so are several lines. */
export const slashOf = (text: string): Slash | undefined => {
  const found = /^\/([\p{L}_-]*)(?:[^\S\n]+(.*))?$/u.exec(text.trim())
  if (found === null) return undefined
  const [, given = "", argument = ""] = found
  const word = given.toLowerCase()
  const name = names.find((one) => one === word)
  if (name !== undefined) return checked(name, argument.trim())
  const near = nearest(word, [...names])
  return refused(
    `unknown command /${word}${near === undefined ? "" : `, did you mean /${near}?`}; /help lists the commands`,
  )
}

/** The text of `/help`. */
export const helpLines: ReadonlyArray<string> = [
  ...names.map((name) => `${`/${name}`.padEnd(11)}${slashCommands[name]}`),
  "",
  ...(
    [
      ["Enter", "send the message; a running turn gets it before its next step"],
      ["Alt-Enter", "a new line in the message"],
      ["Up, Down", "earlier messages"],
      ["Ctrl-C", "interrupt the turn; once more: end the chat"],
      ["Ctrl-Z", "suspend the chat: `fg` of the shell goes on with it"],
      ["Ctrl-D", "end the chat, where nothing is typed"],
    ] as const
  ).map(([key, what]) => `${key.padEnd(11)}${what}`),
]
