/** `fs/watch`: notifies this connection of changes of a path, from the response until `fs/unwatch` or its end. */
import { FsChanged, type FsWatch } from "@colloquy/protocol/thread/Files"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { invalid } from "../../../app/AppErrors.ts"
import { absolutePath, type HostHandler } from "../HostCall.ts"
import { cannotUseFile } from "../HostErrors.ts"
import { FileFailed, FilePort, type Watch } from "../ports/FilePort.ts"

/** Watches of one connection. Each takes a handle of the system. */
const maxWatches = 1024

/** Handler of the method. */
export const fsWatch: HostHandler<typeof FsWatch> = Effect.fnUntraced(function* (
  { path: given, watchId },
  { afterAnswer, host, peer },
) {
  const path = yield* absolutePath("path", given)
  const { scope, watches } = host
  const name = JSON.stringify(watchId)
  if (watches.has(watchId)) return yield* invalid(`duplicate active fs/watch id: ${name}`)
  if (watches.size >= maxWatches) {
    return yield* invalid(`fs/watch: expected at most ${maxWatches} watches of a connection`)
  }
  const files = yield* FilePort
  const begun = Deferred.makeUnsafe<Watch, FileFailed>()
  const answered = Deferred.makeUnsafe<void>()
  const notify = (changedPaths: ReadonlyArray<string>) =>
    Effect.andThen(Deferred.await(answered), peer.notify(FsChanged, [{ watchId, changedPaths }]))
  const watching = files.watch(path).pipe(
    Effect.tap((watch) => Deferred.succeed(begun, watch)),
    Effect.tapError((error) => Deferred.fail(begun, error)),
    Effect.flatMap(({ changes }) => Stream.runForEach(changes, notify)),
    Effect.catch(({ message }) => Effect.logDebug(`the watch ${name} ends: ${message}`)),
    Effect.scoped,
  )
  const fiber = yield* Effect.forkIn(watching, scope)
  watches.set(watchId, fiber)
  // No finalizer of the fiber: one that is interrupted before its first step runs none.
  fiber.addObserver(() => {
    watches.delete(watchId)
    const ended = new FileFailed({ message: `the watch ${name} was ended` })
    Deferred.doneUnsafe(begun, Effect.fail(ended))
  })
  const watch = yield* Effect.mapError(Deferred.await(begun), cannotUseFile)
  afterAnswer(Effect.asVoid(Deferred.succeed(answered, undefined)))
  return { path: watch.path }
})
