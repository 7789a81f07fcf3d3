/**
 * Cursors of lists, which clients keep between pages: encrypted, and bound to their list and principal (L13). A cursor
 * that cannot be decrypted is rejected with the same error, whatever is wrong with it.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { Sealer } from "../../Sealer.ts"
import type { RequestContext } from "../RequestContext.ts"

/** Where a page begins, as JSON. Its meaning is up to the list. */
export type Place = ReadonlyArray<string | number>

type Asked = Pick<RequestContext, "principal">

/** Makes and reads cursors. */
export interface Cursors {
  /** Encrypts a place of the list for the principal. */
  readonly seal: (list: string, place: Place, asked: Asked) => Effect.Effect<string>
  /** The place in the cursor; undefined for the first page, which has none. */
  readonly open: (
    list: string,
    cursor: string | undefined,
    asked: Asked,
  ) => Effect.Effect<Place | undefined, JsonRpcError>
}

const purposeOf = (list: string, { principal }: Asked) => `cursor ${list} ${principal}`

/** The error for a cursor that this server did not make for this list and principal. */
export const badCursor = (): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidParams,
    message:
      "Invalid params: params.cursor: expected the nextCursor of an earlier page of this list",
    data: { issues: [{ path: ["cursor"], message: "unknown cursor" }] },
  })

/** Cursors encrypted by `sealer`. */
export const make = (sealer: Sealer["Service"]): Cursors => ({
  seal: (list, place, asked) => sealer.seal(purposeOf(list, asked), JSON.stringify(place)),
  open: (list, cursor, asked) =>
    cursor === undefined
      ? Effect.undefined
      : Effect.flatMap(sealer.open(purposeOf(list, asked), cursor), (text) =>
          // Only texts encrypted above can be decrypted, so this is JSON of that form.
          text === undefined ? Effect.fail(badCursor()) : Effect.succeed(JSON.parse(text) as Place),
        ),
})
