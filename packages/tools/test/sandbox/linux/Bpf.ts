/** A reader of classic BPF programs as the kernel reads them for seccomp: enough of it to try the filter. */

export interface Call {
  readonly arch: number
  readonly number: number
  readonly arguments?: ReadonlyArray<bigint>
}

/** The program's return value for the call. Throws where the kernel would reject the program. */
export const answer = (program: Uint8Array, call: Call): number => {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number, true)
  data.setUint32(4, call.arch, true)
  for (const [index, value] of (call.arguments ?? []).entries()) {
    data.setBigUint64(16 + 8 * index, value, true)
  }
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength)
  let accumulator = 0
  for (let at = 0; at * 8 < program.byteLength; at++) {
    const code = view.getUint16(at * 8, true)
    const jt = view.getUint8(at * 8 + 2)
    const jf = view.getUint8(at * 8 + 3)
    const k = view.getUint32(at * 8 + 4, true)
    switch (code) {
      case 0x20:
        accumulator = data.getUint32(k, true)
        break
      case 0x54:
        accumulator = (accumulator & k) >>> 0
        break
      case 0x15:
        at += accumulator === k ? jt : jf
        break
      case 0x35:
        at += accumulator >= k ? jt : jf
        break
      case 0x45:
        at += (accumulator & k) !== 0 ? jt : jf
        break
      case 0x06:
        return k
      default:
        throw new Error(`unknown instruction ${code} at ${at}`)
    }
  }
  throw new Error("the program ends without an answer")
}
