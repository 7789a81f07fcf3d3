/** The setpriv that the run of the tests names, for systems with a setpriv without Landlock. */
export const namedSetpriv: string | undefined = process.env["COLLOQUY_SETPRIV"]
