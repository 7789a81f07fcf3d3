/** `fs/unwatch`: ends a watch of this connection. An id that is not watched counts as ended. */
import type { FsUnwatch } from "@colloquy/protocol/thread/Files"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const fsUnwatch: HostHandler<typeof FsUnwatch> = ({ watchId }, { host }) =>
  Effect.suspend(() => {
    const watch = host.watches.get(watchId)
    return watch === undefined ? Effect.succeed({}) : Effect.as(Fiber.interrupt(watch), {})
  })
