/**
 * Builds the system call filter of the sandbox as bytes (classic BPF, for `bwrap --seccomp`). It closes what mounts and
 * namespaces do not. Pure, and independent of the policy: the program is the same whatever is allowed, network
 * included, because access to the host's network also gives access to its abstract Unix sockets. Part of L15.
 *
 * A read-only bind does not stop connect() to a Unix socket, hence no such socket can be created (Docker, ssh-agent and
 * D-Bus would be ways out). Pairs of sockets stay possible, because fork() with IPC in Node and pipes in Python use
 * them, but not pairs of datagram sockets, which can be connected to any address. A refused call fails with EPERM.
 */
import { type Processor, syscallTables } from "./Syscalls.ts"

/** A condition on an argument. Only its low 32 bits are read, as the kernel does for these arguments. */
type Test =
  | { readonly argument: number; readonly anyBitOf: number }
  | { readonly argument: number; readonly mask: number; readonly in: ReadonlyArray<number> }
  | { readonly argument: number; readonly mask: number; readonly notIn: ReadonlyArray<number> }

/** A call that is refused when all tests are true. */
interface Rule {
  readonly syscall: number
  readonly tests: ReadonlyArray<Test>
}

/** An instruction of classic BPF. */
interface Instruction {
  /** Operation code. `jt` and `jf`: number of instructions to skip when the test is true or false. */
  readonly code: number
  readonly jt: number
  readonly jf: number
  readonly k: number
}

const load = 0x20
const and = 0x54
const jumpEqual = 0x15
const jumpAtLeast = 0x35
const jumpAnyBit = 0x45
const ret = 0x06

const allow = 0x7fff0000
const killProcess = 0x80000000
const eperm = 0x00050000 | 1
const enosys = 0x00050000 | 38

/** Offsets in `struct seccomp_data`. */
const numberOffset = 0
const archOffset = 4
const argumentOffset = (index: number): number => 16 + 8 * index

const fullMask = 0xffffffff
const [afUnix, afInet, afInet6, afNetlink] = [1, 2, 10, 16]
const typeMask = 0xf
const [sockStream, sockSeqpacket] = [1, 5]
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const namespaces = 0x7e020000
/** CLONE_NEWTIME shares its bit with the signal number of clone(), which cannot request it. */
const timeNamespace = 0x80
const [tiocsti, tioclinux] = [0x5412, 0x541c]
const setuidBit = 0o4000
/** O_CREAT and the bit of O_TMPFILE: without them `mode` is ignored. */
const creating = 0x40 | 0x400000

const instruction = (code: number, k: number, jt = 0, jf = 0): Instruction => ({ code, jt, jf, k })

const rulesOf = (processor: Processor): ReadonlyArray<Rule> => {
  const nr = syscallTables[processor].conditional
  const rule = (syscall: number | undefined, ...tests: ReadonlyArray<Test>): ReadonlyArray<Rule> =>
    syscall === undefined ? [] : [{ syscall, tests }]
  const setuid = (argument: number): Test => ({ argument, anyBitOf: setuidBit })
  return [
    rule(nr.socket, { argument: 0, mask: fullMask, notIn: [afInet, afInet6, afNetlink] }),
    rule(nr.socketpair, { argument: 0, mask: fullMask, notIn: [afUnix] }),
    rule(nr.socketpair, { argument: 1, mask: typeMask, notIn: [sockStream, sockSeqpacket] }),
    rule(nr.clone, { argument: 0, anyBitOf: namespaces }),
    rule(nr.unshare, { argument: 0, anyBitOf: namespaces | timeNamespace }),
    // These put input into the terminal from which the server was started.
    rule(nr.ioctl, { argument: 1, mask: fullMask, in: [tiocsti, tioclinux] }),
    // These create a program that runs as the server's user for others on the machine.
    rule(nr.chmod, setuid(1)),
    rule(nr.fchmod, setuid(1)),
    rule(nr.fchmodat, setuid(2)),
    rule(nr.fchmodat2, setuid(2)),
    rule(nr.creat, setuid(1)),
    rule(nr.mknod, setuid(1)),
    rule(nr.mknodat, setuid(2)),
    rule(nr.open, { argument: 1, anyBitOf: creating }, setuid(2)),
    rule(nr.openat, { argument: 2, anyBitOf: creating }, setuid(3)),
  ].flat()
}

/** Continues when the test is true, else skips `skip` instructions beyond its own. */
const testOf = (test: Test, skip: number): ReadonlyArray<Instruction> => {
  const first = instruction(load, argumentOffset(test.argument))
  if ("anyBitOf" in test) return [first, instruction(jumpAnyBit, test.anyBitOf, 0, skip)]
  const values = "in" in test ? test.in : test.notIn
  const compare = values.map((value, index) => {
    const after = values.length - 1 - index
    if ("notIn" in test) return instruction(jumpEqual, value, after + skip, 0)
    return instruction(jumpEqual, value, after, after === 0 ? skip : 0)
  })
  return [first, instruction(and, test.mask), ...compare]
}

const ruleOf = (rule: Rule): ReadonlyArray<Instruction> => {
  // Built from the end, because each test jumps over what follows it.
  const body = rule.tests.reduceRight<ReadonlyArray<Instruction>>(
    (rest, test) => [...testOf(test, rest.length), ...rest],
    [instruction(ret, eperm)],
  )
  return [
    instruction(load, numberOffset),
    instruction(jumpEqual, rule.syscall, 0, body.length),
    ...body,
  ]
}

const listOf = (numbers: ReadonlyArray<number>, answer: number): ReadonlyArray<Instruction> => [
  ...numbers.map((number, index) => instruction(jumpEqual, number, numbers.length - index, 0)),
  instruction(ret, allow),
  instruction(ret, answer),
]

const instructionsOf = (processor: Processor): ReadonlyArray<Instruction> => {
  const { audit, absent, refused } = syscallTables[processor]
  return [
    instruction(load, archOffset),
    // For another processor (32-bit programs) the same numbers mean other calls, which cannot be judged.
    instruction(jumpEqual, audit, 1, 0),
    instruction(ret, killProcess),
    instruction(load, numberOffset),
    // The x32 numbers are an alternative to the same calls; no call of arm64 has such a number.
    instruction(jumpAtLeast, 0x40000000, 0, 1),
    instruction(ret, eperm),
    ...Object.values(absent).flatMap((number) => [
      instruction(jumpEqual, number, 0, 1),
      instruction(ret, enosys),
    ]),
    ...rulesOf(processor).flatMap(ruleOf),
    instruction(load, numberOffset),
    ...listOf(Object.values(refused), eperm),
  ]
}

/** The filter, eight bytes per instruction, little-endian as both processors are. */
export const seccompProgram = (processor: Processor): Uint8Array => {
  const instructions = instructionsOf(processor)
  const bytes = new Uint8Array(instructions.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [index, { code, jt, jf, k }] of instructions.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, jt)
    view.setUint8(index * 8 + 3, jf)
    view.setUint32(index * 8 + 4, k >>> 0, true)
  }
  return bytes
}
