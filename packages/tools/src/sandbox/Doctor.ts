/**
 * What `colloquy doctor` reports about running commands on this machine: what works, what is missing, what to install.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import { Sandbox, type SandboxStatus } from "./Sandbox.ts"
import type { Machine } from "./SandboxLayer.ts"

/** Facts about the machine. */
export interface DoctorFacts {
  readonly machine: Machine
  readonly sandbox: SandboxStatus
  /** Absolute path of each helper program by its name; undefined: not found. */
  readonly programs: Readonly<Record<string, string | undefined>>
  /** Why no program of a name may run, by its name, where candidates were refused. */
  readonly refusals?: Readonly<Record<string, string | undefined>>
}

/** One line of the report. */
export interface DoctorLine {
  readonly state: "ok" | "missing" | "broken"
  readonly text: string
}

/** Helper programs, what they are used for, and the package that contains them. */
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
    : {
        state: "broken",
        text: `sandbox: not available: ${status.reason.split("\n", 1)[0]}. Advice: ${status.advice}.`,
      }

const namedPipesLines = (status: SandboxStatus): ReadonlyArray<DoctorLine> => {
  if (status._tag === "Unavailable") return []
  const { namedPipes } = status
  return [
    namedPipes._tag === "Closed"
      ? {
          state: "ok",
          text: `named pipes: ${namedPipes.by} keeps commands from writing to those outside the writable roots`,
        }
      : {
          state: "missing",
          text: `named pipes: commands can write to those outside the writable roots: ${namedPipes.reason}. Advice: ${namedPipes.advice}.`,
        },
  ]
}

/** The report, one line per item, the sandbox first. */
export const doctorLines = ({
  machine,
  programs,
  refusals = {},
  sandbox,
}: DoctorFacts): ReadonlyArray<DoctorLine> => [
  sandboxLine(sandbox),
  ...namedPipesLines(sandbox),
  ...helpers.map((helper): DoctorLine => {
    const at = programs[helper.name]
    return at === undefined
      ? {
          state: "missing",
          text: `${helper.name}: ${refusals[helper.name] ?? "not found"}. It is used for ${helper.use}. Advice: ${installWith(machine.platform)} ${helper.package}.`,
        }
      : { state: "ok", text: `${helper.name}: ${at}` }
  }),
]

/** Searches the helper programs as the server does, and probes the sandbox. */
export const doctorFacts = Effect.fn("Doctor.facts")(function* (machine: Machine) {
  const trusted = yield* TrustedPrograms
  const sandbox = yield* Sandbox
  const found = yield* Effect.forEach(helpers, ({ name }) =>
    Effect.map(Effect.result(trusted.resolve(name)), (at) => [name, at] as const),
  )
  const programs: Record<string, string> = {}
  const refusals: Record<string, string> = {}
  for (const [name, at] of found) {
    if (Result.isSuccess(at)) programs[name] = at.success
    else if (at.failure.refusals.length > 0) refusals[name] = at.failure.message
  }
  const facts: DoctorFacts = {
    machine,
    sandbox: yield* sandbox.status,
    programs,
    refusals,
  }
  return facts
})
