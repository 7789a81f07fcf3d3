/** Further permissions of the core in the words of this dialect, and what an answer of this dialect grants. Pure. */
import { intersection } from "@colloquy/core/approvals/Permissions"
import type { Params } from "@colloquy/protocol/Method"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import type { GrantedPermissions, PermissionsApproval } from "@colloquy/protocol/thread/Questions"

type Asked = Params<typeof PermissionsApproval>["permissions"]

const entriesOf = (access: "read" | "write", paths: ReadonlyArray<string> = []) =>
  paths.map((path) => ({ path: { type: "path", path }, access }))

/** The permissions that are asked for. */
export const askedPermissions = ({ network, read, write }: FurtherPermissions): Asked => ({
  network: network === true ? { enabled: true } : null,
  fileSystem:
    read === undefined && write === undefined
      ? null
      : {
          read: read ?? null,
          write: write ?? null,
          entries: [...entriesOf("read", read), ...entriesOf("write", write)],
        },
})

type Files = NonNullable<GrantedPermissions["fileSystem"]>

/** The paths of the entries that grant this access. */
const pathsWith = (entries: NonNullable<Files["entries"]>, access: "read" | "write") =>
  entries.flatMap(({ access: given, path: { path, type } }) =>
    given === access && type === "path" && path != null ? [path] : [],
  )

/** Lists and entries say the same in two ways; where they differ, only what both grant counts. */
const filesOf = ({ entries, read, write }: Files): FurtherPermissions => {
  const listed = { read: read ?? [], write: write ?? [] }
  if (entries == null) return listed
  const entered = { read: pathsWith(entries, "read"), write: pathsWith(entries, "write") }
  return read == null && write == null ? entered : intersection(listed, entered)
}

/** What the answer grants, at most. */
export const grantedPermissions = ({
  fileSystem,
  network,
}: GrantedPermissions): FurtherPermissions => ({
  network: network?.enabled === true,
  ...(fileSystem == null ? {} : filesOf(fileSystem)),
})
