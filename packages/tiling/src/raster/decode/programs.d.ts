// In bundles for browsers, WebAssembly is a data URL.
declare module '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasm' {
  const address: string
  export default address
}
declare module 'lerc/lerc-wasm.wasm' {
  const address: string
  export default address
}
