import { assert, describe, it } from "@effect/vitest"
import { seccompProgram } from "../../../src/sandbox/linux/Seccomp.ts"
import { type Processor, syscallTables } from "../../../src/sandbox/linux/Syscalls.ts"
import { answer } from "./Bpf.ts"

const words: Readonly<Record<number, string>> = {
  0x7fff0000: "allow",
  0x80000000: "kill",
  0x00050001: "EPERM",
  0x00050026: "ENOSYS",
}

const arch = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 }

const ask = (
  processor: Processor,
  number: number,
  args: ReadonlyArray<number | bigint> = [],
  foreign: number = arch[processor],
): string | undefined =>
  words[answer(seccompProgram(processor), { arch: foreign, number, arguments: args.map(BigInt) })]

/** Name, number on x64 (undefined: has none), number on arm64, arguments, result. */
const table: ReadonlyArray<
  readonly [string, number | undefined, number | undefined, ReadonlyArray<number | bigint>, string]
> = [
  ["read", 0, 63, [], "allow"],
  ["execve", 59, 221, [], "allow"],
  ["connect", 42, 203, [], "allow"],
  ["bind", 49, 200, [], "allow"],
  ["fork", 57, undefined, [], "allow"],
  ["socket(AF_UNIX, SOCK_STREAM)", 41, 198, [1, 1], "EPERM"],
  ["socket(AF_UNIX) with high bits set", 41, 198, [0x700000001n, 1], "EPERM"],
  ["socket(AF_VSOCK)", 41, 198, [40, 1], "EPERM"],
  ["socket(AF_PACKET)", 41, 198, [17, 3], "EPERM"],
  ["socket(AF_ALG)", 41, 198, [38, 5], "EPERM"],
  ["socket(AF_BLUETOOTH)", 41, 198, [31, 3], "EPERM"],
  ["socket(AF_INET)", 41, 198, [2, 1], "allow"],
  ["socket(AF_INET6)", 41, 198, [10, 2], "allow"],
  ["socket(AF_NETLINK)", 41, 198, [16, 3], "allow"],
  ["socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC)", 53, 199, [1, 0x80001], "allow"],
  ["socketpair(AF_UNIX, SOCK_SEQPACKET)", 53, 199, [1, 5], "allow"],
  ["socketpair(AF_UNIX, SOCK_DGRAM)", 53, 199, [1, 2], "EPERM"],
  ["socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK)", 53, 199, [1, 0x802], "EPERM"],
  ["socketpair(AF_UNIX, SOCK_RAW), which is a datagram pair", 53, 199, [1, 3], "EPERM"],
  ["socketpair(AF_TIPC, SOCK_STREAM)", 53, 199, [30, 1], "EPERM"],
  ["clone(SIGCHLD)", 56, 220, [17], "allow"],
  ["clone of a thread", 56, 220, [0x3d0f00], "allow"],
  ["clone(CLONE_NEWUSER)", 56, 220, [0x10000011], "EPERM"],
  ["clone(CLONE_NEWNS)", 56, 220, [0x00020011], "EPERM"],
  ["clone(CLONE_NEWNET)", 56, 220, [0x40000011], "EPERM"],
  ["clone3", 435, 435, [], "ENOSYS"],
  ["unshare(CLONE_FILES)", 272, 97, [0x400], "allow"],
  ["unshare(CLONE_NEWUSER)", 272, 97, [0x10000000], "EPERM"],
  ["unshare(CLONE_NEWTIME)", 272, 97, [0x80], "EPERM"],
  ["setns", 308, 268, [], "EPERM"],
  ["ioctl(TCGETS)", 16, 29, [0, 0x5401], "allow"],
  ["ioctl(TIOCSTI)", 16, 29, [0, 0x5412], "EPERM"],
  ["ioctl(TIOCSTI) with high bits set", 16, 29, [0, 0x100005412n], "EPERM"],
  ["ioctl(TIOCLINUX)", 16, 29, [0, 0x541c], "EPERM"],
  ["ptrace", 101, 117, [], "EPERM"],
  ["process_vm_readv", 310, 270, [], "EPERM"],
  ["process_vm_writev", 311, 271, [], "EPERM"],
  ["pidfd_getfd", 438, 438, [], "EPERM"],
  ["pidfd_open", 434, 434, [], "allow"],
  ["io_uring_setup", 425, 425, [], "EPERM"],
  ["io_uring_enter", 426, 426, [], "EPERM"],
  ["io_uring_register", 427, 427, [], "EPERM"],
  ["mount", 165, 40, [], "EPERM"],
  ["umount2", 166, 39, [], "EPERM"],
  ["pivot_root", 155, 41, [], "EPERM"],
  ["chroot", 161, 51, [], "EPERM"],
  ["open_tree", 428, 428, [], "EPERM"],
  ["move_mount", 429, 429, [], "EPERM"],
  ["fsopen", 430, 430, [], "EPERM"],
  ["fsconfig", 431, 431, [], "EPERM"],
  ["fsmount", 432, 432, [], "EPERM"],
  ["fspick", 433, 433, [], "EPERM"],
  ["mount_setattr", 442, 442, [], "EPERM"],
  ["open_tree_attr", 467, 467, [], "EPERM"],
  ["keyctl", 250, 219, [], "EPERM"],
  ["add_key", 248, 217, [], "EPERM"],
  ["request_key", 249, 218, [], "EPERM"],
  ["bpf", 321, 280, [], "EPERM"],
  ["userfaultfd", 323, 282, [], "EPERM"],
  ["perf_event_open", 298, 241, [], "EPERM"],
  ["kexec_load", 246, 104, [], "EPERM"],
  ["kexec_file_load", 320, 294, [], "EPERM"],
  ["init_module", 175, 105, [], "EPERM"],
  ["finit_module", 313, 273, [], "EPERM"],
  ["delete_module", 176, 106, [], "EPERM"],
  ["open_by_handle_at", 304, 265, [], "EPERM"],
  ["syslog", 103, 116, [], "EPERM"],
  ["chmod(0755)", 90, undefined, [0, 0o755], "allow"],
  ["chmod(04755)", 90, undefined, [0, 0o4755], "EPERM"],
  ["fchmod(04755)", 91, 52, [0, 0o4755], "EPERM"],
  ["fchmodat(02755)", 268, 53, [0, 0, 0o2755], "allow"],
  ["fchmodat(04755)", 268, 53, [0, 0, 0o4755], "EPERM"],
  ["fchmodat2(04755)", 452, 452, [0, 0, 0o4755], "EPERM"],
  ["open(O_RDONLY), rest in the registers", 2, undefined, [0, 0, 0o4755], "allow"],
  ["open(O_CREAT, 04755)", 2, undefined, [0, 0x41, 0o4755], "EPERM"],
  ["openat(O_CREAT, 0644)", 257, 56, [0, 0, 0x41, 0o644], "allow"],
  ["openat(O_CREAT, 04755)", 257, 56, [0, 0, 0x41, 0o4755], "EPERM"],
  ["openat(O_TMPFILE, 04755)", 257, 56, [0, 0, 0x410002, 0o4755], "EPERM"],
  ["openat2", 437, 437, [], "ENOSYS"],
  ["creat(04755)", 85, undefined, [0, 0o4755], "EPERM"],
  ["mknod(04755)", 133, undefined, [0, 0o4755], "EPERM"],
  ["mknodat(04755)", 259, 33, [0, 0, 0o4755], "EPERM"],
]

describe("Seccomp", () => {
  for (const [name, x64, arm64, args, expected] of table) {
    it(`L15 ${name}: ${expected}`, () => {
      if (x64 !== undefined) assert.strictEqual(ask("x64", x64, args), expected, "x64")
      if (arm64 !== undefined) assert.strictEqual(ask("arm64", arm64, args), expected, "arm64")
    })
  }

  it("L15 numbers of another processor kill, whatever the call", () => {
    assert.deepStrictEqual(
      [
        ask("x64", 0, [], arch.i386),
        ask("x64", 0, [], arch.arm64),
        ask("arm64", 63, [], arch.arm),
        ask("arm64", 63, [], arch.x64),
      ],
      ["kill", "kill", "kill", "kill"],
    )
  })

  it("L15 x32 numbers are refused, the last one below them is not", () => {
    assert.deepStrictEqual(
      [0x40000000, 0x40000029, 0x40000000 + 520, 0xffffffff, 0x3fffffff].map((number) =>
        ask("x64", number, [2]),
      ),
      ["EPERM", "EPERM", "EPERM", "EPERM", "allow"],
    )
  })

  it("refuses every number of its lists and allows every other below 512", () => {
    for (const processor of ["x64", "arm64"] as const) {
      const { absent, conditional, refused } = syscallTables[processor]
      const listed = new Map<number | undefined, string>([
        ...Object.values(refused).map((number) => [number, "EPERM"] as const),
        ...Object.values(absent).map((number) => [number, "ENOSYS"] as const),
      ])
      const own = new Set<number | undefined>(Object.values(conditional))
      for (let number = 0; number < 512; number++) {
        if (own.has(number)) continue
        assert.strictEqual(
          ask(processor, number),
          listed.get(number) ?? "allow",
          `${processor} ${number}`,
        )
      }
    }
  })

  it("fits the limit of the kernel", () => {
    for (const processor of ["x64", "arm64"] as const) {
      const program = seccompProgram(processor)
      assert.strictEqual(program.byteLength % 8, 0)
      assert.isBelow(program.byteLength / 8, 4096)
    }
  })
})
