/**
 * Where a page of a list ended, as clients keep it: sealed, and bound to its list and to who asked. What does not open
 * is refused, whatever it is.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { Sealer } from "../../Sealer.ts"
import type { RequestContext } from "../RequestContext.ts"

/** JSON. */
export type Place = ReadonlyArray<string | number>

type Asked = Pick<RequestContext, "principal">

export interface Cursors {
  readonly seal: (list: string, place: Place, asked: Asked) => Effect.Effect<string>
  /** Undefined for the first page. */
  readonly open: (
    list: string,
    cursor: string | undefined,
    asked: Asked,
  ) => Effect.Effect<Place | undefined, JsonRpcError>
}

const purposeOf = (list: string, { principal }: Asked) => `cursor ${list} ${principal}`

export const badCursor = (): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidParams,
    message:
      "Invalid params: params.cursor: expected the nextCursor of an earlier page of this list",
    data: { issues: [{ path: ["cursor"], message: "unknown cursor" }] },
  })

export const make = (sealer: Sealer["Service"]): Cursors => ({
  seal: (list, place, asked) => sealer.seal(purposeOf(list, asked), JSON.stringify(place)),
  open: (list, cursor, asked) =>
    cursor === undefined
      ? Effect.undefined
      : Effect.flatMap(sealer.open(purposeOf(list, asked), cursor), (text) =>
          // Only what was sealed above opens, so it is JSON of that form.
          text === undefined ? Effect.fail(badCursor()) : Effect.succeed(JSON.parse(text) as Place),
        ),
})
