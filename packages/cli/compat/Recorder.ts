/**
 * Records the messages that a client sends. In the client's setup a program replaces Colloquy's, writes its input to a
 * file, and passes it on to Colloquy's program.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { entry } from "../test/support/BuiltProgram.ts"
import type { Declared } from "./ClientsPage.ts"
import type { Place } from "./Place.ts"

interface Message {
  readonly method?: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly capabilities?: Readonly<Record<string, unknown>>
    readonly _meta?: Readonly<Record<string, unknown>>
  }
}

export interface Recorder {
  /** Directory with the recording program at the same path as the program in Colloquy's directory. */
  readonly directory: string
  /** What the client has declared to the server so far. */
  readonly declared: () => Declared
}

/** A variable in the client's environment. Some clients pass on few variables, or none that may be a secret. */
export const keyVariable = "OPENAI_API_KEY"

const source = (file: string, variablesFile: string) => `
import { spawn } from "node:child_process"
import { appendFileSync, writeFileSync } from "node:fs"
writeFileSync(${JSON.stringify(variablesFile)}, JSON.stringify(process.env))
const args = [${JSON.stringify(entry)}, ...process.argv.slice(2)]
const child = spawn(process.execPath, args, { stdio: ["pipe", "inherit", "inherit"] })
child.stdin.on("error", () => {})
child.on("exit", (code) => process.exit(code ?? 1))
process.stdin.on("data", (data) => {
  appendFileSync(${JSON.stringify(file)}, data)
  child.stdin.write(data)
})
process.stdin.on("end", () => child.stdin.end())
`

export const recorder = ({ home }: Place): Recorder => {
  const directory = join(home, "recorder")
  const file = join(home, "messages.jsonl")
  for (const folder of ["node_modules/.bin", "packages/cli/bin"]) {
    mkdirSync(join(directory, folder), { recursive: true })
  }
  symlinkSync(process.execPath, join(directory, "node_modules/.bin/node"))
  const variablesFile = join(home, "variables.json")
  writeFileSync(join(directory, "packages/cli/bin/colloquy.mjs"), source(file, variablesFile))
  return {
    directory,
    declared: () => {
      const lines = readFileSync(file, "utf8").split("\n")
      const variables = JSON.parse(readFileSync(variablesFile, "utf8")) as object
      return { ...declaredIn(lines), key: keyVariable in variables }
    },
  }
}

const prefix = "io.modelcontextprotocol"

/**
 * What a client declares in these messages. The newest revision puts into each request what earlier ones put into
 * `initialize`.
 */
export const declaredIn = (texts: ReadonlyArray<string>): Omit<Declared, "key"> => {
  const messages = texts.filter((text) => text !== "").map((text) => JSON.parse(text) as Message)
  const call = messages.find(({ method }) => method === "tools/call")
  // A gateway may have tried the server with one of its own before.
  const handshake = messages.findLast(({ method }) => method === "initialize")
  const meta = call?.params?._meta ?? {}
  const version = meta[`${prefix}/protocolVersion`] ?? handshake?.params?.protocolVersion
  const capabilities = (meta[`${prefix}/clientCapabilities`] ??
    handshake?.params?.capabilities ??
    {}) as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
  return {
    revision: typeof version === "string" ? version : "none",
    approvals: capabilities["elicitation"] !== undefined,
    tasks: `${prefix}/tasks` in (capabilities["extensions"] ?? {}) || "tasks" in capabilities,
    progress: "progressToken" in meta,
    events: "codex/event" in (capabilities["experimental"] ?? {}),
  }
}
