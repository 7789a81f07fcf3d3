/** Clients that are libraries: the module that the page shows is written beside the installed package and loaded. */
import * as Effect from "effect/Effect"
import { existsSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { vi } from "vitest"
import { setup } from "./ClientsPage.ts"
import { folderOf } from "./Driver.ts"
import type { ClientName } from "./Pins.ts"

const hourMs = 3_600_000

/**
 * Runs a call whose command leaves the file `started` and then sleeps for a moment. Until it ends, the timers of this
 * process, and so the time limit of the client, run for almost an hour.
 */
export const almostAnHour = async <A>(started: string, call: () => Promise<A>): Promise<A> => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    const result = call()
    // The caller handles a rejection, even one that comes before the caller awaits the call.
    result.catch(() => {})
    while (!existsSync(started)) await new Promise((resolve) => setImmediate(resolve))
    await vi.advanceTimersByTimeAsync(hourMs - 60_000)
    vi.useRealTimers()
    return await result
  } finally {
    vi.useRealTimers()
  }
}

let written = 0

/** What a module with this text, beside the installed package, exports. */
export const loadModule = (client: ClientName, text: string): unknown => {
  const file = join(folderOf(client), `setup-${process.pid}-${++written}.mjs`)
  writeFileSync(file, text)
  return createRequire(file)(file)
}

/** What the module of the page exports. */
export const loadSetup = (client: ClientName, directory?: string): unknown =>
  loadModule(client, setup(client, "js", { DIR: directory }))

/** The text of the error with which a call fails. */
export const failureOf = (call: () => Promise<unknown>): Effect.Effect<string> =>
  Effect.promise(() =>
    call().then(
      () => "it did not fail",
      (error: unknown) => String(error),
    ),
  )
