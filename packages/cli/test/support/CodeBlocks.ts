/** The code blocks and the commands of a page. Pure. */
import * as AppServer from "@colloquy/protocol/app/AppServer"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"
import * as Method from "@colloquy/protocol/Method"
import { decode, Config } from "@colloquy/config/ConfigSchema"
import { parseToml } from "@colloquy/config/ConfigTree"
import * as Result from "effect/Result"
import * as Args from "../../src/args/Args.ts"
import { isForPeople } from "../../src/args/PeopleCommands.ts"

/** A block between two lines of three or more backquotes. */
export interface CodeBlock {
  /** What follows the backquotes; empty if nothing does. */
  readonly language: string
  readonly text: string
}

const fenced = /^(`{3,})([^\n`]*)\n([^]*?)^\1$/gm

/** The code blocks of a page, in order. */
export const blocksOf = (page: string): ReadonlyArray<CodeBlock> =>
  Array.from(page.matchAll(fenced), ([, , language = "", text = ""]) => ({
    language: language.trim(),
    text,
  }))

/** The commands that a page quotes in its text: `colloquy …`, `npm …` and `npx …` between single backquotes. */
export const quotedCommands = (page: string): ReadonlyArray<string> =>
  Array.from(
    page
      .replaceAll(fenced, "")
      .matchAll(/`((?:npx |npm )?(?:colloquy|run|test|ci|vitest)\b[^`\n]*)`/g),
    ([, command = ""]) => command,
  ).filter((command) => /^(?:npm|npx|colloquy) /.test(command))

/** The commands of a block of a shell: one per line and per `&&`, without comments, prompts and printed lines. */
export const commandsOf = ({ language, text }: CodeBlock): ReadonlyArray<string> =>
  text
    .split("\n")
    .flatMap((line) => {
      if (language !== "console") return [line]
      return line.startsWith("$ ") ? [line.slice(2)] : []
    })
    .flatMap((line) => line.replace(/(?:^|\s)#.*$/, "").split("&&"))
    .map((command) => command.trim())
    .filter((command) => command !== "")

/** The words of a command, with a number for PORT; what is optional, in brackets, is there. */
const words = (command: string): ReadonlyArray<string> =>
  Array.from(
    command.replaceAll(/\[(--[^\]]*)\]/g, "$1").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
    ([, double, single, plain]) => (double ?? single ?? plain ?? "").replaceAll("PORT", "8747"),
  )

const program = "DIR/node_modules/.bin/node DIR/packages/cli/bin/colloquy.mjs "

/** The arguments of Colloquy in a command that runs it or has it run by a client; undefined if it does neither. */
const argumentsIn = (command: string): ReadonlyArray<string> | undefined => {
  const [, byClient] = command.split(program)
  if (byClient !== undefined) return words(byClient.split('"')[0] ?? "")
  const own = /^(?:npx )?colloquy(?: (.*))?$/.exec(command)
  return own === null ? undefined : words(own[1] ?? "")
}

/** What the commands of pages may name. */
export interface Known {
  /** Names of the scripts of package.json. */
  readonly scripts: ReadonlySet<string>
  /** Programs of others, each with the check that runs it as the page shows it. */
  readonly others: ReadonlyMap<string, string>
}

/** Why a command cannot run; undefined if it can, as far as can be said without running it. */
export const commandFault = (command: string, known: Known): string | undefined => {
  const args = argumentsIn(command)
  if (args !== undefined) {
    // Their pages have tests that run them.
    if (isForPeople(args)) return undefined
    const parsed = Args.parse(args)
    return Result.isFailure(parsed) ? `${command}: ${parsed.failure.message}` : undefined
  }
  const [first = "", second = "", third = ""] = words(command)
  if (first === "npm") {
    if (second === "run") {
      return known.scripts.has(third) ? undefined : `${command}: no script \`${third}\``
    }
    return ["ci", "init", "install", "ls", "test"].includes(second)
      ? undefined
      : `${command}: unexpected`
  }
  if (first === "npx" && second === "vitest") return undefined
  return known.others.has(first) ? undefined : `${command}: no check runs \`${first}\``
}

const methods = new Map([
  ...Method.methodsOf(AppServerV2.clientToServer),
  ...Method.methodsOf(AppServer.AppServer.clientToServer),
])

const someId = "0199a213-81c0-7800-8aa1-bbab2a035a53"

/** Why a line is no message of the app-server; undefined if it is one. */
const messageFault = (line: string): string | undefined => {
  const message: unknown = JSON.parse(line.replaceAll('Id":"…"', `Id":"${someId}"`))
  if (typeof message !== "object" || message === null || !("method" in message)) return undefined
  const method = methods.get(String(message.method))
  if (method === undefined) return `no method ${String(message.method)}`
  const params = "params" in message ? message.params : undefined
  const decoded = Method.codecOf(method).decodeParams(params)
  return Result.isFailure(decoded) ? `${line}: ${decoded.failure.message}` : undefined
}

const attempt = (run: () => string | undefined): string | undefined => {
  try {
    return run()
  } catch (error) {
    return String(error)
  }
}

/** Why a block of JSON is none: one value, or a message of the app-server per line. */
export const jsonFault = (text: string): string | undefined =>
  attempt(() => {
    const lines = text.trim().split("\n")
    if (!lines.every((line) => line.startsWith("{") && line.endsWith("}"))) {
      JSON.parse(text)
      return undefined
    }
    return lines.map(messageFault).find((fault) => fault !== undefined)
  })

/** Why a block of TOML is no `config.toml`. Keys that are comments are read as well. */
export const tomlFault = (text: string): string | undefined => {
  const all = text.replaceAll(/^# (?=\w+ = )/gm, "")
  const decoded = Result.flatMap(parseToml(all), (tree) =>
    Result.mapError(decode(Config, tree), (fault) => JSON.stringify(fault)),
  )
  return Result.isFailure(decoded) ? decoded.failure : undefined
}
