/**
 * The command `doctor`: reports whether commands can be confined on this machine, what is missing and how to install it,
 * whether conversations can be stored, whether the configuration is valid, and which provider, key and login are used. The
 * provider is asked for its models, which costs nothing. Exit codes: 0 commands can be confined and a conversation can start,
 * 1 otherwise; the lines say what to do.
 */
import { spelledOut } from "@colloquy/core/question/VisibleText"
import * as Doctor from "@colloquy/tools/sandbox/Doctor"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import * as NodePlatform from "../machine/NodePlatform.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { loginOf } from "../auth/LoginOfMachine.ts"
import type { Launch } from "../args/Args.ts"
import * as Environment from "../machine/Environment.ts"
import * as MachinePrograms from "../machine/MachinePrograms.ts"
import { output } from "../terminal/Output.ts"
import { rowsOf } from "../terminal/Width.ts"
import { canStart, type Line, providerLines } from "./ProviderCheck.ts"
import { reach } from "./ProviderReach.ts"

const marks = {
  ok: "ok      ",
  missing: "missing ",
  broken: "broken  ",
  warning: "warning ",
} as const

/** One line on a pipe, for programs that search it; rows of the terminal with the mark before the first. */
const rowsOfLine = ({ state, text }: Line): ReadonlyArray<string> => {
  const { columns, isTerminal } = output()
  const mark = marks[state]
  const visible = spelledOut(text)
  if (!isTerminal) return [mark + visible]
  return rowsOf(visible, columns - mark.length).map(
    (row, index) => `${index === 0 ? mark : " ".repeat(mark.length)}${row}`,
  )
}

/** Prints one line per check on stdout. Resolves with the exit code. */
export const run = (launch: Launch): Promise<number> => {
  const environment = Environment.read(launch.directory)
  const machine = { platform: process.platform, processor: process.arch }
  return Effect.gen(function* () {
    const facts = yield* Doctor.doctorFacts(machine)
    const login = yield* loginOf(environment)
    const variables = process.env
    const provider = yield* providerLines({
      environment,
      launch,
      login,
      variables,
      ask: (one) => reach(one, variables),
    })
    const lines = [...Doctor.doctorLines(facts), ...provider, login]
    process.stdout.write(
      lines
        .flatMap(rowsOfLine)
        .map((row) => `${row}\n`)
        .join(""),
    )
    return facts.sandbox._tag === "Available" && canStart(provider) ? 0 : 1
  }).pipe(
    Effect.provide(
      Layer.provideMerge(
        SandboxLayer.layer({
          machine,
          environment: process.env,
          hiddenPaths: environment.hiddenDirectories,
        }),
        Layer.merge(NodePlatform.layer, MachinePrograms.layer(process.env)),
      ),
    ),
    Effect.runPromise,
  )
}
