/**
 * The command `doctor`: tells whether commands can be confined on this machine, what is missing and what to install.
 * Exit codes: 0 the sandbox works, 1 it does not.
 */
import * as Doctor from "@colloquy/tools/Doctor"
import * as SandboxLayer from "@colloquy/tools/SandboxLayer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Environment from "./Environment.ts"
import * as MachinePrograms from "./MachinePrograms.ts"

const marks = { ok: "ok      ", missing: "missing ", broken: "broken  " } as const

/** Prints one line for each thing looked at. */
export const run = (): Promise<number> => {
  const machine = { platform: process.platform, processor: process.arch }
  return Doctor.doctorFacts(machine).pipe(
    Effect.map((facts) => {
      const lines = Doctor.doctorLines(facts)
      process.stdout.write(lines.map(({ state, text }) => `${marks[state]}${text}\n`).join(""))
      return facts.sandbox._tag === "Available" ? 0 : 1
    }),
    Effect.provide(
      Layer.provideMerge(
        SandboxLayer.layer({
          machine,
          environment: process.env,
          hiddenPaths: Environment.read().hiddenDirectories,
        }),
        Layer.merge(NodeServices.layer, MachinePrograms.layer(process.env)),
      ),
    ),
    Effect.runPromise,
  )
}
