"use strict";
{
  /** Load the page again once it says something else: a reader is not interrupted for nothing. */
  let seen = null;
  const look = async () => {
    const now = await fetch(location.href).then(reply => reply.text(), () => null);
    if (seen !== null && now !== null && now !== seen) location.reload();
    seen ??= now;
  };
  look();
  setInterval(look, 10000);
}
