/** `getAuthStatus`: as in v1, with null in place of members that have no value. */
import type { GetAuthStatus } from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import { getAuthStatus as ofV1 } from "../../../app/methods/GetAuthStatus.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const getAuthStatus: HostHandler<typeof GetAuthStatus> = (params, call) =>
  Effect.map(ofV1(params, call), ({ authMethod, authToken, requiresOpenaiAuth }) => ({
    authMethod: authMethod ?? null,
    authToken: authToken ?? null,
    requiresOpenaiAuth: requiresOpenaiAuth ?? null,
  }))
