/** `decode.wasm` as Base64; the build writes it. */
declare const base64: string;
export default base64;
