/** Reads and validates what a request of the stateless revision declares in `_meta`. Pure. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { LoggingLevel } from "@colloquy/protocol/mcp/Logging"
import {
  MetaKey,
  StatelessErrorCode,
  type StatelessVersion,
  statelessVersions,
} from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Result from "effect/Result"
import type { ClientDeclared, Members } from "../RequestContext.ts"
import { isMembers } from "./Capabilities.ts"

/** What `_meta` of a request of 2026-07-28 declares. */
export interface RequestMeta {
  readonly revision: StatelessVersion
  readonly client: ClientDeclared
  readonly logLevel: LoggingLevel | undefined
  readonly meta: Members
}

/** `_meta` of the params of a request. Undefined if it is absent or not an object. */
export const metaOf = (params: unknown): Members | undefined => {
  const meta = memberOf(params, "_meta")
  return isMembers(meta) ? meta : undefined
}

const unusable = (key: string, expected: string) =>
  Result.fail(
    new JsonRpcError({
      code: ErrorCode.invalidParams,
      message: `Invalid params: params._meta["${key}"]: expected ${expected}`,
      // Lists the supported revisions, so that a client of another revision can choose one.
      data: { supported: statelessVersions },
    }),
  )

const infoOf = (u: unknown): ClientDeclared["info"] => {
  if (!isMembers(u)) return undefined
  const { name, title, version } = u
  return typeof name === "string" && typeof version === "string"
    ? { name, version, ...(typeof title === "string" ? { title } : {}) }
    : undefined
}

const isLevel = (u: unknown): u is LoggingLevel =>
  LoggingLevel.literals.some((level) => level === u)

/** Reads `_meta` of a request. Fails with the error that the revision specifies for the first invalid member. */
export const readMeta = (meta: Members): Result.Result<RequestMeta, JsonRpcError> => {
  const requested = memberOf(meta, MetaKey.protocolVersion)
  if (typeof requested !== "string") return unusable(MetaKey.protocolVersion, "a string")
  const revision = statelessVersions.find((version) => version === requested)
  if (revision === undefined) {
    return Result.fail(
      new JsonRpcError({
        code: StatelessErrorCode.unsupportedProtocolVersion,
        message: `Unsupported protocol version: ${JSON.stringify(requested.slice(0, 64))}`,
        data: { supported: statelessVersions, requested },
      }),
    )
  }
  const capabilities = memberOf(meta, MetaKey.clientCapabilities)
  if (!isMembers(capabilities)) return unusable(MetaKey.clientCapabilities, "an object")
  const sentInfo = memberOf(meta, MetaKey.clientInfo)
  const info = infoOf(sentInfo)
  if (info === undefined && sentInfo !== undefined) {
    return unusable(MetaKey.clientInfo, "an object with `name` and `version`")
  }
  const logLevel = memberOf(meta, MetaKey.logLevel)
  if (logLevel !== undefined && !isLevel(logLevel)) {
    return unusable(MetaKey.logLevel, `one of ${LoggingLevel.literals.join(", ")}`)
  }
  return Result.succeed({
    revision,
    client: info === undefined ? { capabilities } : { info, capabilities },
    logLevel,
    meta,
  })
}
