/** `account/bedrock/checkGovCloudRequirements`: this program has no provider of Amazon Bedrock, so nothing is required. */
import type { CheckGovCloudRequirements } from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const checkGovCloudRequirements: HostHandler<typeof CheckGovCloudRequirements> = () =>
  Effect.succeed({ isGovCloud: false, shouldWarn: false })
