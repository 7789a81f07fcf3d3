/** `fs/watch`: notifies this connection of changes of a path, from the response until `fs/unwatch` or its end. */
import { FsChanged, type FsWatch } from "@colloquy/protocol/thread/Files"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { invalid } from "../../../app/AppErrors.ts"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FilePort } from "../ports/FilePort.ts"

/** Watches of one connection. Each takes a handle of the system. */
const maxWatches = 1024

/** Handler of the method. */
export const fsWatch: HostHandler<typeof FsWatch> = Effect.fnUntraced(function* (
  { path: given, watchId },
  { afterAnswer, host, peer },
) {
  const path = yield* absolutePath("path", given)
  const { scope, watches } = host
  const files = yield* FilePort
  const watch = yield* Effect.mapError(files.watch(path), cannotUseFile)
  if (watches.has(watchId)) {
    return yield* invalid(`duplicate active fs/watch id: ${JSON.stringify(watchId)}`)
  }
  if (watches.size >= maxWatches) {
    return yield* invalid(`fs/watch: expected at most ${maxWatches} watches of a connection`)
  }
  const answered = Deferred.makeUnsafe<void>()
  afterAnswer(Effect.asVoid(Deferred.succeed(answered, undefined)))
  const notifying = watch.changes.pipe(
    Stream.runForEach((changedPaths) =>
      Effect.andThen(Deferred.await(answered), peer.notify(FsChanged, [{ watchId, changedPaths }])),
    ),
    Effect.catch((error) =>
      Effect.logDebug(`the watch ${JSON.stringify(watchId)} ends: ${error.message}`),
    ),
    Effect.ensuring(Effect.sync(() => watches.delete(watchId))),
  )
  watches.set(watchId, yield* Effect.forkIn(notifying, scope))
  return { path: watch.path }
})
