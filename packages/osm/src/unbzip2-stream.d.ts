declare module 'unbzip2-stream' {
  interface Unbzip2 {
    on(event: 'data', listener: (bytes: Uint8Array) => void): this
    on(event: 'error', listener: (error: Error) => void): this
    /** Unpacks whole blocks at once, and emits them before it returns. */
    write(bytes: Uint8Array): boolean
    end(): void
  }
  export default function unbzip2(): Unbzip2
}
