
(function(){"use strict";
P.begin(function(){});
P.sorts("#host-ranks table,#threads table,#interrupts table");
})();
