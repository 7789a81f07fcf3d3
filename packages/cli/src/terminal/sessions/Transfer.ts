/** What `colloquy sessions transfer` does: copies conversations from one store to another. */
import { type Copied, copyAll, copyEach } from "@colloquy/store-sql/Transfer"
import * as Effect from "effect/Effect"
import { CommandFailed } from "../CommandFailed.ts"
import { print, printProblem } from "../Output.ts"
import { idOf } from "./Sessions.ts"
import { expectedPlaces, openStore, placeOf } from "./StorePlace.ts"
import { jsonText } from "../JsonText.ts"

/** What is copied, and how it is reported. */
export interface TransferOptions {
  /** Ids of the conversations; all when there are none. */
  readonly ids: ReadonlyArray<string>
  /** Name of the store; the configured one when absent. */
  readonly from: string | undefined
  /** Name of the other store; the configured one when absent. */
  readonly to: string | undefined
  readonly json: boolean
}

/** The store that the configuration names, and the state directory. */
export interface Configured {
  readonly store: string
  readonly stateDirectory: string
}

const failed = (message: string) => new CommandFailed({ message })

const placeFor = (option: string, name: string | undefined, configured: Configured) => {
  const place = placeOf(name ?? configured.store, configured.stateDirectory)
  if (place !== undefined) return Effect.succeed(place)
  return Effect.fail(
    failed(
      name === undefined
        ? `\`conversation_store\` is \`${configured.store}\`, which keeps nothing: name a store with \`${option}\``
        : `\`${option}\`: expected ${expectedPlaces}`,
    ),
  )
}

const tell = ({ error, id }: Copied): Effect.Effect<void> =>
  error === undefined
    ? print([`copied ${id}`])
    : printProblem(`${id} was not copied: ${error.message}`)

const rowOf = ({ error, id }: Copied) =>
  error === undefined ? { id, copied: true } : { id, copied: false, error: error.message }

/** Copies the conversations, and reports each. Fails at the end when one of them was not copied. */
export const transfer = Effect.fnUntraced(function* (
  { from, ids: texts, json, to }: TransferOptions,
  configured: Configured,
) {
  if (from === undefined && to === undefined) {
    return yield* failed("name one store with `--from` or `--to`, or both")
  }
  const source = yield* placeFor("--from", from, configured)
  const target = yield* placeFor("--to", to, configured)
  if (source === target) return yield* failed("`--from` and `--to` name the same store")
  const ids = yield* Effect.forEach(texts, idOf)
  const stores = { from: yield* openStore(source), to: yield* openStore(target) }
  const onCopied = json ? undefined : tell
  const all =
    ids.length === 0 ? yield* copyAll(stores, onCopied) : yield* copyEach(stores, ids, onCopied)
  if (json) yield* print([jsonText(all.map(rowOf), 2)])
  else if (all.length === 0) yield* print(["There are no conversations to copy."])
  const missing = all.filter(({ error }) => error !== undefined).length
  if (missing > 0) {
    return yield* failed(`${missing} of ${all.length} conversations were not copied`)
  }
}, Effect.scoped)
