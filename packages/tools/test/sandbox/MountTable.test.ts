import { assert, describe, it } from "@effect/vitest"
import { foreignMounts } from "../../src/sandbox/MountTable.ts"

const line = (place: string, type: string, tags = "shared:1 ") =>
  `36 35 98:0 / ${place} rw,noatime ${tags}- ${type} source rw,errors=continue`

const foreign = (...lines: ReadonlyArray<string>) => {
  const places = foreignMounts(`${lines.join("\n")}\n`)
  return places === undefined ? undefined : [...places]
}

describe("MountTable", () => {
  it("lists the mount points that may wait for another machine or process", () => {
    assert.deepStrictEqual(
      foreign(
        line("/", "ext4"),
        line("/home", "nfs4", ""),
        line("/run", "tmpfs", "master:1 propagate_from:2 "),
        line("/mnt/c", "9p"),
        line("/net", "autofs"),
        line("/media/a", "fuse.sshfs"),
        line("/srv", "a type of the future"),
      ),
      ["/home", "/mnt/c", "/net", "/media/a", "/srv"],
    )
  })

  it("reads the characters that the kernel escapes", () => {
    assert.deepStrictEqual(foreign(line("/my\\040files\\134x\\011", "cifs")), ["/my files\\x\t"])
  })

  it.each([
    ["is empty", "\n"],
    ["has a line that cannot be read", `${line("/", "ext4")}\n36 35 98:0 / /home rw\n`],
    ["has a line without a mount point", "36 35 - ext4 /dev/sda1 rw\n"],
    ["is longer than what is read", `${line("/", "ext4")}\n`.repeat(2000)],
  ])("knows nothing from a table that %s", (_, table) => {
    assert.isUndefined(foreignMounts(table))
  })
})
