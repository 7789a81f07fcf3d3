/**
 * Reads the table of mounts of Linux, `/proc/self/mountinfo`, to tell where a file operation cannot wait for another
 * machine or process. Pure.
 */

/**
 * Types of file systems that answer from memory or from a device of this machine. Every other type may wait for a
 * server or a process that does not respond: nfs, cifs, 9p, fuse, virtiofs, autofs and those that are not known here.
 * An overlay counts, because containers run on it; its layers are local wherever container engines create it.
 */
const localTypes = new Set([
  "bcachefs",
  "btrfs",
  "erofs",
  "ext2",
  "ext3",
  "ext4",
  "f2fs",
  "overlay",
  "ramfs",
  "squashfs",
  "tmpfs",
  "xfs",
  "zfs",
])

/** Longest table that is read, in characters: hosts of many containers have longer ones, which would cost more than they save. */
const maxChars = 65_536

/** The kernel writes space, tab, line feed and backslash as three octal digits. */
const unescaped = (field: string): string =>
  field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))

/**
 * The mount points of file systems that are not local, as absolute paths. Undefined when the table is too long or has a
 * line that cannot be read: then no path is known to be local.
 */
export const foreignMounts = (table: string): ReadonlySet<string> | undefined => {
  if (table.length > maxChars || table.trim() === "") return undefined
  const foreign = new Set<string>()
  for (const line of table.trim().split("\n")) {
    // 36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda1 rw
    const [before = "", after] = line.split(" - ")
    const place = before.split(" ")[4]
    const type = after?.split(" ")[0]
    if (place === undefined || type === undefined) return undefined
    if (!localTypes.has(type)) foreign.add(unescaped(place))
  }
  return foreign
}
