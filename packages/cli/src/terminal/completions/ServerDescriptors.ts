/** The commands that `args/Args.ts` parses, as completions describe them. Their words come from there. */
import type { CommandDescriptor, FlagDescriptor } from "effect/cli/Completions"
import { commandNames, dialects, takesOf } from "../../args/Args.ts"
import * as Options from "../../args/Options.ts"

const flagOf = ({ long, short, value }: (typeof Options.options)[number]): FlagDescriptor => ({
  name: long.replace(/^--/, ""),
  aliases: short === undefined ? [] : [short.replace(/^-/, "")],
  description: undefined,
  negation: false,
  type: value === undefined ? { _tag: "Boolean" } : { _tag: "String" },
})

const keyOf: Readonly<Record<string, string>> = {
  "--listen": "listen",
  "--no-events": "events",
  "--out": "out",
  "--cd": "directory",
  "--help": "",
  "--version": "",
}

const flagsOf = (name: string): ReadonlyArray<FlagDescriptor> => {
  const takes: ReadonlySet<string> = new Set(["", ...takesOf(name)])
  return Options.options.filter(({ long }) => takes.has(keyOf[long] ?? "overrides")).map(flagOf)
}

/** One for each command of a server. */
export const serverDescriptors: ReadonlyArray<CommandDescriptor> = commandNames.map((name) => ({
  name,
  description: undefined,
  flags: flagsOf(name),
  arguments: takesOf(name).includes("dialect")
    ? [
        {
          name: "dialect",
          description: undefined,
          required: false,
          variadic: false,
          type: { _tag: "Choice", values: dialects },
        },
      ]
    : [],
  subcommands: [],
}))
