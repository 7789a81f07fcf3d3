/**
 * `request_permissions`: asks a person for permissions that the sandbox does not give, and tells the model what was granted.
 *
 * Keeps its part of L15: paths are asked for without symbolic links, so that a person decides about the place itself, and
 * nothing that the sandbox protects can be asked for.
 */
import type { Verdict } from "@colloquy/core/approvals/Approval"
import { refusedCall, type ToolContext, type ToolResult } from "@colloquy/core/ToolRuntime"
import { defined } from "@colloquy/protocol/Defined"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import type { Path } from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { confines } from "../policy/CommandPolicy.ts"
import { withPermissions } from "../policy/GrantedPolicy.ts"
import type { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import { isWithin } from "../sandbox/PathContainment.ts"
import type { WorkingDirectory } from "../shell/WorkingDirectory.ts"
import { functionTool, type Tool, toolArguments } from "../Tool.ts"
import { policyFor } from "../policy/AllowedQuestions.ts"

const optional = <S extends Schema.Codec<unknown, unknown>>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema))

const permissionsArguments = toolArguments(
  Schema.Struct({
    reason: optional(
      Schema.String.annotate({ description: "Why you need it, in a sentence for the person." }),
    ),
    permissions: Schema.Struct({
      network: optional(Schema.Struct({ enabled: optional(Schema.Boolean) })),
      file_system: optional(
        Schema.Struct({
          read: optional(Schema.Array(Schema.String)),
          write: optional(
            Schema.Array(Schema.String).annotate({
              description:
                "Existing directories or files. What lies below a directory is included, so ask for the innermost one.",
            }),
          ),
        }),
      ),
    }),
  }),
)

/** Most paths of a question: a person reads each. */
const maxPaths = 16

/** What the tool needs. */
export interface PermissionsToolOptions {
  readonly resolve: Path["resolve"]
  /** Resolves an absolute path at this moment. */
  readonly directoryAt: (path: string) => Effect.Effect<WorkingDirectory>
  /** Absolute paths that no tool reads. */
  readonly hiddenPaths: ReadonlyArray<string>
  /** Learns where commands can write from now on. */
  readonly remember: TrustedPrograms["Service"]["remember"]
}

/** Why the path cannot be asked for. */
const faultOf = (
  { identity, path }: WorkingDirectory,
  hidden: ReadonlyArray<string>,
): string | undefined => {
  if (identity === undefined) return "nothing is there"
  if (path === "/") return "expected a path inside of the file system"
  if (hidden.some((place) => isWithin(path, place))) return "no tool has access to it"
  return path.toLowerCase().split("/").includes(".git")
    ? "what git keeps for itself stays read-only"
    : undefined
}

/** The paths as the sandbox allows them, or the fault of the first that cannot be asked for. */
const placesOf = Effect.fnUntraced(function* (
  { directoryAt, hiddenPaths, resolve }: PermissionsToolOptions,
  paths: ReadonlyArray<string>,
  cwd: string,
): Effect.fn.Return<Result.Result<ReadonlyArray<string>, string>> {
  const places: Array<string> = []
  const real = yield* Effect.forEach(hiddenPaths, directoryAt)
  const hidden = [...hiddenPaths, ...real.map(({ path }) => path)]
  for (const named of paths) {
    const found = yield* directoryAt(resolve(cwd, named))
    const fault = faultOf(found, hidden)
    if (fault !== undefined) {
      return Result.fail(`\`${found.named}\` cannot be asked for: ${fault}`)
    }
    places.push(found.path)
  }
  return Result.succeed([...new Set(places)])
})

/** What the model reads, in the form of the original. */
const outputOf = ({ decision, permissions = {} }: Verdict): string => {
  const { network, read, write } = permissions
  const files = read === undefined && write === undefined ? null : defined({ read, write })
  return JSON.stringify({
    permissions: { network: network === true ? { enabled: true } : null, file_system: files },
    scope: decision === "approved_for_session" ? "session" : "turn",
  })
}

interface Asked {
  readonly network: boolean
  readonly read: ReadonlyArray<string>
  readonly write: ReadonlyArray<string>
}

const ask = Effect.fnUntraced(function* (
  options: PermissionsToolOptions,
  { network, read, write }: Asked,
  call: { readonly callId: string; readonly justification: string | undefined },
  context: ToolContext,
): Effect.fn.Return<ToolResult> {
  const { cwd, sandboxPolicy } = context.settings
  if (read.length > maxPaths || write.length > maxPaths) {
    return refusedCall(`expected at most ${maxPaths} paths of a kind`)
  }
  const readable = yield* placesOf(options, read, cwd)
  const writable = yield* placesOf(options, write, cwd)
  if (Result.isFailure(readable)) return refusedCall(readable.failure)
  if (Result.isFailure(writable)) return refusedCall(writable.failure)
  const permissions: FurtherPermissions = {
    ...(network ? { network } : {}),
    ...(readable.success.length > 0 ? { read: readable.success } : {}),
    ...(writable.success.length > 0 ? { write: writable.success } : {}),
  }
  if (Object.keys(permissions).length === 0) {
    return refusedCall("expected at least one permission: the network, or a path")
  }
  const { callId, justification } = call
  const verdict = yield* context.approve({
    _tag: "Permissions",
    callId,
    permissions,
    cwd,
    ...defined({ justification }),
  })
  // Before a command runs that can write there.
  yield* options.remember(withPermissions(sandboxPolicy, verdict.permissions ?? {}), cwd)
  return { output: outputOf(verdict) }
})

/** The tool `request_permissions`. It is offered where the sandbox confines and a person may be asked. */
export const permissionsTool = (options: PermissionsToolOptions): Tool => ({
  ...functionTool({
    name: "request_permissions",
    description:
      "Asks the person you work for to let your commands and patches use the network, or change files in further places, while they stay in the sandbox. Use it when the sandbox has prevented something that the task needs, and ask for as little as possible. The result is JSON: what was granted, which may be less or nothing, and whether for this turn or for the session.",
    arguments: permissionsArguments,
    isOffered: (settings) =>
      policyFor(settings, "permissions") !== "never" && confines(settings.sandboxPolicy),
    run: ({ permissions, reason }, callId, context) => {
      const { sandboxPolicy } = context.settings
      if (policyFor(context.settings, "permissions") === "never") {
        return Effect.succeed(refusedCall("the approval policy allows no question"))
      }
      if (!confines(sandboxPolicy)) {
        return Effect.succeed(
          refusedCall("commands run without a sandbox: there is nothing to ask"),
        )
      }
      const { file_system, network } = permissions
      const asked = {
        network: network?.enabled === true,
        read: file_system?.read ?? [],
        write: file_system?.write ?? [],
      }
      return ask(options, asked, { callId, justification: reason ?? undefined }, context)
    },
  }),
  // What was granted already is not asked again.
  replay: "safe",
})
