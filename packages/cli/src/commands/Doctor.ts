/**
 * The command `doctor`: reports whether commands can be confined on this machine, what is missing and how to install it,
 * whether the configuration is valid, and which provider, key and login are used. Sends no request to a provider. Exit
 * codes: 0 commands can be confined and a conversation can start, 1 otherwise; the lines say what to do.
 */
import * as Doctor from "@colloquy/tools/sandbox/Doctor"
import * as SandboxLayer from "@colloquy/tools/sandbox/SandboxLayer"
import * as NodePlatform from "../machine/NodePlatform.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { loginOf } from "../auth/LoginOfMachine.ts"
import * as Environment from "../machine/Environment.ts"
import * as MachinePrograms from "../machine/MachinePrograms.ts"
import { canStart, providerLines } from "./ProviderCheck.ts"

const marks = { ok: "ok      ", missing: "missing ", broken: "broken  " } as const

/** Prints one line per check on stdout. Resolves with the exit code. */
export const run = (): Promise<number> => {
  const environment = Environment.read()
  const machine = { platform: process.platform, processor: process.arch }
  return Effect.gen(function* () {
    const facts = yield* Doctor.doctorFacts(machine)
    const login = yield* loginOf(environment)
    const provider = yield* providerLines(environment, login, process.env)
    const lines = [...Doctor.doctorLines(facts), ...provider, login]
    process.stdout.write(lines.map(({ state, text }) => `${marks[state]}${text}\n`).join(""))
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
