/** The list of files of a patch, for a person who decides about it. Pure. Keeps its part of L7. */
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { PatchApproval } from "../approvals/Approval.ts"
import { quoted } from "./VisibleText.ts"

/** Most files that are listed; further ones are counted. */
const maxFiles = 20

/** Most rows of one path. PATH_MAX of Linux is 4,096 bytes, but paths of a project rarely fill one row. */
const maxPathRows = 4

type Kind = "add" | "update" | "delete" | "move"

const kindOf = (change: FileChange): Kind => {
  if ("add" in change) return "add"
  if ("delete" in change) return "delete"
  return change.update.move_path === null ? "update" : "move"
}

const isBelow = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`)

interface Location {
  readonly text: string
  readonly isMarked: boolean
}

/** The path, with what is unusual about its location. */
const locationOf = (path: string, leadsTo: string | undefined, cwd: string): Location => {
  const real = leadsTo ?? path
  const facts = [
    ...(leadsTo === undefined ? [] : [`leads to ${quoted(leadsTo, maxPathRows)}`]),
    ...(isBelow(cwd, real) && !real.split("/").includes("..")
      ? []
      : ["outside the working directory"]),
    ...(real.split("/").includes(".git") ? ["in a .git directory"] : []),
  ]
  const shown = quoted(path, maxPathRows)
  return {
    text: facts.length === 0 ? shown : `${shown} (${facts.join(", ")})`,
    isMarked: facts.length > 0,
  }
}

interface Row {
  readonly kind: Kind
  readonly text: string
  readonly isMarked: boolean
}

const rowOf = (path: string, change: FileChange, request: PatchApproval, cwd: string): Row => {
  const kind = kindOf(change)
  const leadsTo = (of: string) =>
    request.links !== undefined && Object.hasOwn(request.links, of) ? request.links[of] : undefined
  const from = locationOf(path, leadsTo(path), cwd)
  const target = "update" in change ? change.update.move_path : null
  if (target === null) return { kind, text: `${kind} ${from.text}`, isMarked: from.isMarked }
  const to = locationOf(target, leadsTo(target), cwd)
  return {
    kind,
    text: `${kind} ${from.text} to ${to.text}`,
    isMarked: from.isMarked || to.isMarked,
  }
}

const countText = (rows: ReadonlyArray<Row>): string =>
  (["add", "update", "move", "delete"] as const)
    .flatMap((kind) => {
      const count = rows.filter((row) => row.kind === kind).length
      return count === 0 ? [] : [`${count} ${kind}`]
    })
    .join(", ")

/**
 * The number of files of each kind, and the first files. Those with an unusual location come before the others, so that
 * many harmless files cannot hide them.
 */
export const patchFiles = (request: PatchApproval, cwd: string): string => {
  const rows = Object.entries(request.changes).map(([path, change]) =>
    rowOf(path, change, request, cwd),
  )
  const left = rows.length - maxFiles
  const ordered = [...rows.filter(({ isMarked }) => isMarked), ...rows.filter((r) => !r.isMarked)]
  return [
    `Files (${countText(rows)}):`,
    ...ordered.slice(0, maxFiles).map(({ text }) => `  ${text}`),
    ...(left > 0 ? [`  … ${left} more file${left === 1 ? "" : "s"} …`] : []),
  ].join("\n")
}

/** Every path of the patch, targets of moves included. */
export const pathsOf = ({ changes }: PatchApproval): ReadonlyArray<string> =>
  Object.entries(changes).flatMap(([path, change]) =>
    "update" in change && change.update.move_path !== null
      ? [path, change.update.move_path]
      : [path],
  )
