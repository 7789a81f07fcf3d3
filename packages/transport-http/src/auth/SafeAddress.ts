/** Which addresses of an issuer are safe to use. Pure. */

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** True for an `https` address without credentials and fragment, and for an `http` address on the loopback interface. */
export const isSafeAddress = (address: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hash, hostname, password, protocol, username } = new URL(address)
  const isPrivate = protocol === "https:" || (protocol === "http:" && loopbackHosts.has(hostname))
  return isPrivate && hash === "" && username === "" && password === ""
}
