/** What `colloquy doctor` says about running commands here: what works, what is missing, what to install. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { findProgram } from "./BubblewrapProbe.ts"
import { Sandbox, type SandboxStatus } from "./Sandbox.ts"
import type { Machine } from "./SandboxLayer.ts"

export interface DoctorFacts {
  readonly machine: Machine
  readonly sandbox: SandboxStatus
  /** Absolute path of each helper by its name; undefined: not found. */
  readonly programs: Readonly<Record<string, string | undefined>>
}

export interface DoctorLine {
  readonly state: "ok" | "missing" | "broken"
  readonly text: string
}

/** Helpers, what they are for and what brings them. */
const helpers: ReadonlyArray<{
  readonly name: string
  readonly use: string
  readonly package: string
}> = [
  { name: "git", use: "facts and diffs of repositories", package: "git" },
  { name: "rg", use: "fast search", package: "ripgrep" },
]

const installWith = (platform: string): string =>
  platform === "darwin" ? "brew install" : "apt-get install"

const sandboxLine = (status: SandboxStatus): DoctorLine =>
  status._tag === "Available"
    ? { state: "ok", text: `sandbox: ${status.kind} ${status.version}` }
    : { state: "broken", text: `sandbox: ${status.reason.split("\n", 1)[0]}; ${status.advice}` }

const namedPipesLines = (status: SandboxStatus): ReadonlyArray<DoctorLine> => {
  if (status._tag === "Unavailable") return []
  const { namedPipes } = status
  return [
    namedPipes._tag === "Closed"
      ? { state: "ok", text: `named pipes outside the writable roots: closed by ${namedPipes.by}` }
      : {
          state: "missing",
          text: `named pipes outside the writable roots: commands can write to them; ${namedPipes.reason}; ${namedPipes.advice}`,
        },
  ]
}

/** One line each, the sandbox first. */
export const doctorLines = ({
  machine,
  programs,
  sandbox,
}: DoctorFacts): ReadonlyArray<DoctorLine> => [
  sandboxLine(sandbox),
  ...namedPipesLines(sandbox),
  ...helpers.map((helper): DoctorLine => {
    const at = programs[helper.name]
    return at === undefined
      ? {
          state: "missing",
          text: `${helper.name}: not found, for ${helper.use}; ${installWith(machine.platform)} ${helper.package}`,
        }
      : { state: "ok", text: `${helper.name}: ${at}` }
  }),
]

/** Looks for the helpers and asks the sandbox; `path` is the PATH of the server. */
export const doctorFacts = Effect.fn("Doctor.facts")(function* (machine: Machine, path: string) {
  const sandbox = yield* Sandbox
  const found = yield* Effect.forEach(helpers, ({ name }) =>
    Effect.map(findProgram(name, path), (at) => [name, Option.getOrUndefined(at)] as const),
  )
  const facts: DoctorFacts = {
    machine,
    sandbox: yield* sandbox.status,
    programs: Object.fromEntries(found),
  }
  return facts
})
