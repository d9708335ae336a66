// Style sheets are strings; build.mjs makes them so.
declare module "*.css" {
  const text: string;
  export default text;
}
