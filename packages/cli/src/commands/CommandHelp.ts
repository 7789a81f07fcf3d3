/** The help page of a command that `args/Args.ts` parses, in the form of those of the commands for people. Pure. */
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"
import { formatPage } from "../terminal/HelpText.ts"
import { serverDescriptors } from "../terminal/completions/ServerDescriptors.ts"
import { entryRows } from "./HelpEntries.ts"
import { keyEntries } from "./HelpKeys.ts"

const typeOf = ({ type }: FlagDescriptor): string =>
  type._tag === "Boolean" ? "" : type._tag === "Choice" ? "choice" : type._tag.toLowerCase()

const described = ({ description, type }: FlagDescriptor): string =>
  type._tag === "Choice"
    ? `${description} (choices: ${type.values.join(", ")})`
    : (description ?? "")

const keyColumn = 27

const keys = (): string =>
  [
    "",
    "KEYS OF CONFIG.TOML AND -C THAT ONLY THIS PROGRAM HAS",
    ...entryRows(keyEntries, keyColumn),
    "",
  ].join("\n")

const pageOf = ({ arguments: args, description, flags, name }: CommandDescriptor): string =>
  formatPage({
    description: description ?? "",
    usage: ["colloquy", name, "[flags]", ...args.map((one) => `[<${one.name}>]`)].join(" "),
    flags: flags.map((flag) => ({
      name: flag.name,
      aliases: flag.aliases.map((alias) => `-${alias}`),
      type: typeOf(flag),
      description: Option.some(described(flag)),
      required: false,
    })),
    globalFlags: [
      {
        name: "help",
        aliases: ["-h"],
        type: "",
        description: Option.some("Show help information"),
        required: false,
      },
    ],
    annotations: Context.empty(),
    args: args.map(({ description: text, name: argument, required, type, variadic }) => ({
      name: argument,
      type: type._tag === "Choice" ? "choice" : "string",
      description: Option.some(
        type._tag === "Choice" ? `${text} (choices: ${type.values.join(", ")})` : (text ?? ""),
      ),
      required,
      variadic,
    })),
  })

/** The page of the command; undefined for one without a page. */
export const commandHelp = (name: string): string | undefined => {
  const found = serverDescriptors.find((one) => one.name === name && name !== "help")
  if (found === undefined) return undefined
  const page = pageOf(found).trimEnd()
  return `${page}\n${name === "config" ? keys() : ""}`
}
