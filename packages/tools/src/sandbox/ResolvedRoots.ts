/**
 * Determines the directories that a policy lets commands write to, as they are on this machine: without links, and
 * without following a link that a command may have created. Part of L15.
 */
import type { ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import { writableRoots } from "../policy/WritableRoots.ts"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { rootHolding } from "../programs/ProgramTrust.ts"
import type { TrustedPrograms } from "../programs/TrustedPrograms.ts"
import { resolveRoots } from "./FindProtectedPaths.ts"
import { sandboxRefused } from "./SandboxRefusal.ts"

/** What a sandbox depends on besides the policy. */
export interface SandboxSettings {
  /** Environment of the server: its TMPDIR is a writable root. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Files and directories that no command can read or write; the state directory first. Absolute. */
  readonly hiddenPaths: ReadonlyArray<string>
}

/** Writable roots of other conversations that are remembered; the oldest are forgotten first. */
const maxKnownRoots = 1024

/** The existing writable roots of the policy, without links. Remembers them as places that commands write to. */
const rootsOf = Effect.fnUntraced(function* (
  known: Ref.Ref<ReadonlySet<string>>,
  policy: ConfiningPolicy,
  workspace: string,
  tmpdir: string | undefined,
) {
  if (policy.mode === "read-only" && policy.granted?.write === undefined) return []
  const writable = writableRoots(policy, {
    cwd: workspace,
    ...(tmpdir === undefined ? {} : { tmpdir }),
    slashTmpIsDirectory: true,
    protectedPaths: [],
  })
  if (writable._tag === "Everything") return yield* sandboxRefused("the policy confines nothing")
  const found = yield* resolveRoots(
    writable.roots.map(({ root }) => root),
    ["/tmp", ...(tmpdir?.startsWith("/") === true ? [tmpdir] : []), ...(yield* Ref.get(known))],
  )
  yield* Ref.update(known, (all) => new Set([...all, ...found].slice(-maxKnownRoots)))
  return found
})

/** Returns a function from policy and workspace to the writable roots; it remembers those of all conversations. */
export const makeRootResolver = Effect.fnUntraced(function* (tmpdir: string | undefined) {
  const known = yield* Ref.make<ReadonlySet<string>>(new Set())
  return (policy: ConfiningPolicy, workspace: string) => rootsOf(known, policy, workspace, tmpdir)
})

/**
 * Fails when a program that the server starts outside the sandbox lies where commands in the sandbox could change it.
 */
export const requireProgramsOutside = Effect.fnUntraced(function* (
  programs: TrustedPrograms["Service"],
  roots: ReadonlyArray<string>,
  own: ReadonlyArray<string>,
) {
  const program =
    own.find((path) => rootHolding(path, roots) !== undefined) ??
    (yield* programs.systemProgramIn(roots))
  if (program !== undefined)
    return yield* sandboxRefused(`${program} lies where commands can write`)
})
