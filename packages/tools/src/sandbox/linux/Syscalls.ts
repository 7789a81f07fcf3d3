/**
 * Numbers of the system calls that the filter checks, from the kernel's tables (`asm/unistd_64.h`,
 * `asm-generic/unistd.h`). Never decides anything.
 */

/** Processors with known numbers, named as in Node. */
export type Processor = "x64" | "arm64"

/** Calls that are refused under conditions; undefined: the processor has no such call. */
interface Conditional {
  readonly socket: number
  readonly socketpair: number
  readonly clone: number
  readonly unshare: number
  readonly ioctl: number
  readonly open: number | undefined
  readonly openat: number
  readonly creat: number | undefined
  readonly mknod: number | undefined
  readonly mknodat: number
  readonly chmod: number | undefined
  readonly fchmod: number
  readonly fchmodat: number
  readonly fchmodat2: number
}

interface SyscallTable {
  /** `AUDIT_ARCH_*`: identifies the processor that the number of a call belongs to. */
  readonly audit: number
  readonly conditional: Conditional
  /** Calls that are refused whatever their arguments are. */
  readonly refused: Readonly<Record<string, number>>
  /** Calls that fail as in an older kernel: their arguments lie in memory, which a filter cannot read. */
  readonly absent: Readonly<Record<string, number>>
}

/** Numbers that are the same on all processors, like all those added after 2019. */
const common = {
  pidfd_getfd: 438,
  process_madvise: 440,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  quotactl_fd: 443,
  open_tree_attr: 467,
}

const absent = { clone3: 435, openat2: 437 }

/** The numbers of each processor. */
export const syscallTables: Readonly<Record<Processor, SyscallTable>> = {
  x64: {
    audit: 0xc000003e,
    conditional: {
      socket: 41,
      socketpair: 53,
      clone: 56,
      unshare: 272,
      ioctl: 16,
      open: 2,
      openat: 257,
      creat: 85,
      mknod: 133,
      mknodat: 259,
      chmod: 90,
      fchmod: 91,
      fchmodat: 268,
      fchmodat2: 452,
    },
    refused: {
      ...common,
      ptrace: 101,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      mount: 165,
      umount2: 166,
      pivot_root: 155,
      chroot: 161,
      setns: 308,
      keyctl: 250,
      add_key: 248,
      request_key: 249,
      bpf: 321,
      userfaultfd: 323,
      perf_event_open: 298,
      kexec_load: 246,
      kexec_file_load: 320,
      init_module: 175,
      finit_module: 313,
      delete_module: 176,
      open_by_handle_at: 304,
      fanotify_init: 300,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      acct: 163,
      quotactl: 179,
      syslog: 103,
      iopl: 172,
      ioperm: 173,
      lookup_dcookie: 212,
      nfsservctl: 180,
      vhangup: 153,
      settimeofday: 164,
      clock_settime: 227,
      sethostname: 170,
      setdomainname: 171,
    },
    absent,
  },
  arm64: {
    audit: 0xc00000b7,
    conditional: {
      socket: 198,
      socketpair: 199,
      clone: 220,
      unshare: 97,
      ioctl: 29,
      open: undefined,
      openat: 56,
      creat: undefined,
      mknod: undefined,
      mknodat: 33,
      chmod: undefined,
      fchmod: 52,
      fchmodat: 53,
      fchmodat2: 452,
    },
    refused: {
      ...common,
      ptrace: 117,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      mount: 40,
      umount2: 39,
      pivot_root: 41,
      chroot: 51,
      setns: 268,
      keyctl: 219,
      add_key: 217,
      request_key: 218,
      bpf: 280,
      userfaultfd: 282,
      perf_event_open: 241,
      kexec_load: 104,
      kexec_file_load: 294,
      init_module: 105,
      finit_module: 273,
      delete_module: 106,
      open_by_handle_at: 265,
      fanotify_init: 262,
      swapon: 224,
      swapoff: 225,
      reboot: 142,
      acct: 89,
      quotactl: 60,
      syslog: 116,
      lookup_dcookie: 18,
      nfsservctl: 42,
      vhangup: 58,
      settimeofday: 170,
      clock_settime: 112,
      sethostname: 161,
      setdomainname: 162,
    },
    absent,
  },
}
