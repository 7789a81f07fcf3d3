/**
 * A patch with its links resolved, and what follows from that for the policy and for the question to a person. Reads
 * the file system and changes nothing. Part of L15: what is decided about is where the links lead.
 */
import type { Confinement } from "@colloquy/core/approvals/Confinement"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import type * as PatchPlan from "../patch/PatchPlan.ts"
import type { GrantedPolicy } from "../policy/GrantedPolicy.ts"
import { type Writable, writableRoots } from "../policy/WritableRoots.ts"
import { isWithin } from "../sandbox/PathContainment.ts"
import type { PatchFiles } from "./PatchFiles.ts"

/** What resolving needs. */
export interface ResolvingOptions {
  readonly files: PatchFiles
  /** `$TMPDIR` of the server. */
  readonly tmpdir?: string
  /** Never written under a confining policy. Absolute paths. */
  readonly protectedPaths: ReadonlyArray<string>
}

/** A plan, and where the links on its paths led when it was decided about. */
export interface ResolvedPlan extends PatchPlan.PatchPlan {
  /** The paths of the plan with all links followed, in the same order. */
  readonly real: ReadonlyArray<string>
  /** The same, and the paths with all links followed except for the last part. */
  readonly places: ReadonlyArray<string>
}

const canonicalAll = ({ canonical }: PatchFiles, paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, canonical)

/** Resolves the links of a plan. A link is changed where it leads, and removed where it is. */
export const resolvePlan = Effect.fnUntraced(function* (
  files: PatchFiles,
  plan: PatchPlan.PatchPlan,
) {
  const own = yield* Effect.forEach(plan.paths, files.canonicalParent)
  const real = yield* canonicalAll(files, plan.paths)
  return { ...plan, real, places: [...new Set([...real, ...own])] } satisfies ResolvedPlan
})

/** The protected paths without links. A workspace inside a protected directory is not protected, as for commands. */
export const protectedFor = Effect.fnUntraced(function* (
  { files, protectedPaths }: ResolvingOptions,
  cwd: string,
) {
  const workspace = yield* files.canonical(cwd)
  const paths = yield* canonicalAll(files, protectedPaths)
  return paths.filter((path) => path === workspace || !isWithin(workspace, path))
})

/** The writable roots of the policy with their links followed, like the paths that are compared with them. */
export const writableFor = Effect.fnUntraced(function* (
  options: ResolvingOptions,
  { settings }: ToolContext,
  policy: GrantedPolicy,
): Effect.fn.Return<Writable> {
  const protectedPaths = yield* protectedFor(options, settings.cwd)
  const lexical = writableRoots(policy, {
    cwd: settings.cwd,
    ...(options.tmpdir === undefined ? {} : { tmpdir: options.tmpdir }),
    slashTmpIsDirectory: true,
    protectedPaths,
  })
  if (lexical._tag === "Everything" || lexical.roots.length === 0) return lexical
  const roots = yield* canonicalAll(
    options.files,
    lexical.roots.map(({ root }) => root),
  )
  return writableRoots(
    { mode: "workspace-write", writable_roots: roots, exclude_slash_tmp: true },
    { cwd: roots[0] ?? "/", slashTmpIsDirectory: false, protectedPaths },
  )
})

/** The links that a person has to see: the paths that do not lead to the place that their name says. */
const linksOf = Effect.fnUntraced(function* (
  files: PatchFiles,
  plan: ResolvedPlan,
  { settings }: ToolContext,
) {
  const cwd = yield* files.canonical(settings.cwd)
  return Object.fromEntries(
    plan.paths.flatMap((path, index) => {
      const real = plan.real[index] ?? path
      const isPlain =
        real === path ||
        (path.startsWith(`${settings.cwd}/`) && real === cwd + path.slice(settings.cwd.length))
      return isPlain ? [] : [[path, real] as const]
    }),
  )
})

/** The question whether the patch may be applied with this confinement. */
export const question = Effect.fnUntraced(function* (
  files: PatchFiles,
  plan: ResolvedPlan,
  call: {
    readonly callId: string
    readonly confinement: Confinement
    readonly reason: string | undefined
  },
  context: ToolContext,
) {
  const { callId, confinement, reason } = call
  const links = yield* linksOf(files, plan, context)
  return {
    _tag: "Patch" as const,
    callId,
    changes: plan.changes,
    confinement,
    ...(Object.keys(links).length === 0 ? {} : { links }),
    ...(reason === undefined ? {} : { reason }),
  }
})
