/** Bytes in the params of requests, as base64. */
import * as Encoding from "effect/encoding/Base64"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { badValue } from "./HostErrors.ts"

/** The bytes. Fails with an error that names the member. */
export const bytesOf = (field: string, text: string): Effect.Effect<Uint8Array, JsonRpcError> => {
  const decoded = Encoding.decode(text)
  return Result.isSuccess(decoded)
    ? Effect.succeed(decoded.success)
    : Effect.fail(badValue(`invalid ${field}: expected base64`))
}
